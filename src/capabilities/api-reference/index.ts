export { apiReferencePages } from './pages.ts'
