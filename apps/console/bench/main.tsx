// The least that a console of these libraries costs: one form, one route. `bench:console` compares with it.
import '@mantine/core/styles.css';
import { Button, Checkbox, MantineProvider, PasswordInput, TextInput } from '@mantine/core';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router-dom';

const Form = () => (
  <main>
    <h1>Sign in</h1>
    <form>
      <TextInput name="email" type="email" label="E-mail" autoComplete="username" />
      <PasswordInput name="password" label="Password" autoComplete="current-password" />
      <Checkbox label="Keep me signed in" />
      <Button type="submit">Continue</Button>
    </form>
  </main>
);

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <MantineProvider>
    <RouterProvider router={createBrowserRouter([{ path: '*', element: <Form /> }])} />
  </MantineProvider>,
);
