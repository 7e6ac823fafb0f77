import { Frame } from '../../components/frame/frame.tsx';
import { siteViews } from '../site-views.ts';
import { over } from '../over.tsx';
import { menu } from './menu.ts';

export const Component = () => <Frame menu={menu} views={siteViews} over={over} />;
