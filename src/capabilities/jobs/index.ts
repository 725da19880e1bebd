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
  jobRunRoutes,
  listJobs,
  readJob,
  shownJob,
} from './job-runs.ts'
export {
  type Chore,
  type ChoreRun,
  type Jobs,
  type JobsOptions,
  runChore,
  startJobs,
} from './start-jobs.ts'
export { deleteEarlierJobs, deleteEndedJobs } from './store.ts'
