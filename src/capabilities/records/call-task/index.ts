export { type CallTask, findCallTask } from './find-call-task.ts'
export {
  addLinkAttributes,
  type CallLinks,
  type LinkedCall,
  linksFrom,
  nearestGivers,
} from './links.ts'
export { withoutPersonalText, withoutPersonalValues } from './personal-values.ts'
