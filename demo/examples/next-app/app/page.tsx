import { SignInButton } from './buttons';

export default function Home() {
  return (
    <>
      <h1>Home</h1>
      <SignInButton />
    </>
  );
}
