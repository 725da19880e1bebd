export {
  type Job,
  type JobContext,
  type JobDb,
  type JobHandler,
  JobRefused,
  type JobRequest,
  type JobValue,
} from './contract.ts'
export { enqueueJob, requesterOf } from './enqueue-job.ts'
export { cancelJob, findJobs, jobFields, listJobs, readJob, shownJob } from './read-jobs.ts'
export { type Chore, type Jobs, type JobsOptions, startJobs } from './start-jobs.ts'
export { deleteEarlierJobs, deleteEndedJobs } from './store.ts'
