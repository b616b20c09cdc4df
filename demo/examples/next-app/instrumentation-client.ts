// Next.js runs this file once, in the browser, before the app starts.
import './tracking';
