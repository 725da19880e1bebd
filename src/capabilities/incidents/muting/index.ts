/** The door of muting for commands: suppressions and inhibition. */

export {
  incidentInhibitors,
  incidentSources,
  mutualInhibition,
  sourcesFirst,
} from './inhibition.ts'
export { isActive, isMatch, type Suppression, suppressionBody } from './suppression.ts'
