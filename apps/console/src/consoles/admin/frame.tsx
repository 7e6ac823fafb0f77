import { Frame } from '../../components/frame/frame.tsx';

import { over } from '../over.tsx';
import { menu } from './menu.ts';

export const Component = () => <Frame menu={menu} views={[]} over={over} />;
