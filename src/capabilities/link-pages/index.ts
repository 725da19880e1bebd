export { linkPages } from './pages.ts'
