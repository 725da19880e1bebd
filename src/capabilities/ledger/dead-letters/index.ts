export { deadLetterRoutes } from './dead-letter-routes.ts'
export { letterOf, type ReadDeadLetter } from './read-dead-letter.ts'
export { everyDeadLetter, replayAll } from './replay-all.ts'
