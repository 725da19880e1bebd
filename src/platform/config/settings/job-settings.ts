import { integer } from '../setting.ts'
import { hours, minutes, seconds } from './units.ts'

/** Jobs of the worker, and what of our own books is deleted. */
export const jobSettings = {
  jobs_max: integer({
    unit: 'jobs',
    default: 2,
    min: 1,
    max: 64,
    reason: 'Jobs (retention, archive, restore, …) that one worker does at a time.',
  }),
  job_poll_ms: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 50,
    max: minutes,
    reason: 'How often a worker with nothing to do looks for a job; one statement each.',
  }),
  job_lease_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: seconds,
    max: hours,
    reason: 'A job whose worker is not heard of for so long is taken over by another one.',
  }),
  job_attempts_max: integer({
    unit: 'attempts',
    default: 5,
    min: 1,
    max: 100,
    reason: 'Attempts before a job is failed; an outage of a store is no attempt, for a day.',
  }),
  job_runs_days: integer({
    unit: 'days',
    default: 90,
    min: 1,
    max: 3_650,
    reason: 'How long records of runs are kept. Those of archives, restores and erasures stay.',
  }),
  retention_hour: integer({
    unit: 'hour of the day, UTC',
    default: 3,
    min: 0,
    max: 23,
    reason: 'From then on the daily runs of retention begin: choose an hour with little load.',
  }),
  ledger_days: integer({
    unit: 'days',
    default: 400,
    min: 8,
    max: 36_500,
    reason:
      'How long the ledger of what came in is kept; it goes by whole months. It has counts only, no content.',
  }),
}
