export {
  type Job,
  type JobContext,
  type JobDb,
  type JobHandler,
  JobRefused,
  type JobValue,
} from './contract.ts'
export {
  cancelJob,
  enqueueJob,
  findJobs,
  jobFields,
  listJobs,
  readJob,
  shownJob,
} from './job-runs.ts'
export { jobRunRoutes } from './run-routes.ts'
export {
  type Chore,
  type ChoreRun,
  type Jobs,
  type JobsOptions,
  runChore,
  startJobs,
} from './start-jobs.ts'
export { deleteEarlierJobs, deleteEndedJobs } from './store.ts'
