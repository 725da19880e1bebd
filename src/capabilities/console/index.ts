export { consolePage, consoleRoutes } from './pages.ts'
