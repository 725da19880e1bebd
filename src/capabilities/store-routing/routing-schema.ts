import { z } from 'zod'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import {
  defaultRouting,
  hotWindowHours,
  queryClasses,
  routeChoices,
  storeNames,
} from './contract.ts'

const { min, max } = hotWindowHours

const choice = z
  .enum(routeChoices, { error: expected(`one of ${routeChoices.join(', ')}`) })
  .meta({ id: 'StoreChoice' })

const routesBody = record('StoreRoutesRequest', {
  point: choice.default('auto').describe('Records by their ids.'),
  list: choice.default('auto').describe('Pages of records.'),
  aggregate: choice.default('auto').describe('Sums, percentiles, buckets.'),
  explorer: choice.default('auto').describe('Whole traces.'),
})

/**
 * What PUT takes: the whole routing, of which what is left out is the default; or nothing but
 * `apply_scorecard`, which sets routes and leaves the rest.
 */
export const routingBody = z
  .strictObject({
    write_stores: z
      .array(z.enum(storeNames, { error: expected(`one of ${storeNames.join(', ')}`) }))
      .max(storeNames.length)
      .optional()
      .describe(
        'Stores that rows go to: ClickHouse alone when left out. It has all of them, so it is always among these.',
      ),
    hot_window_hours: z
      .int({ error: expected(`a whole number from ${min} to ${max}`) })
      .min(min, { error: expected(`${min} to ${max}`) })
      .max(max, { error: expected(`${min} to ${max}`) })
      .optional()
      .describe(
        `How far back PostgreSQL has rows, when it is written to; ${hotWindowHours.default} when left out.`,
      ),
    routes: routesBody
      .optional()
      .describe('Which store is asked first, by kind of read. auto: the one that measured best.'),
    fallback: z
      .boolean()
      .optional()
      .describe(
        'Another store answers when the first one can not; the answer says so. true when left out.',
      ),
    apply_scorecard: z
      .literal(true)
      .optional()
      .describe(
        'Alone: each kind of read goes where the scorecard recommends it; all else stays as it is.',
      ),
  })
  .superRefine(({ apply_scorecard, ...given }, context) => {
    const fault = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    if (apply_scorecard) {
      for (const name of Object.keys(given)) fault([name], 'expected apply_scorecard alone')
      return
    }
    const { write_stores = [...defaultRouting.write_stores], routes } = given
    if (!write_stores.includes('clickhouse')) {
      fault(['write_stores'], 'expected clickhouse among them: it is what keeps everything')
    }
    write_stores.forEach((store, at) => {
      if (write_stores.indexOf(store) < at) {
        fault(['write_stores', at], `got ${JSON.stringify(store)} twice, expected each store once`)
      }
    })
    if (write_stores.includes('postgres')) return
    for (const each of queryClasses) {
      if (routes?.[each] !== 'postgres') continue
      const message = 'got "postgres", to which nothing is written: expected it in write_stores too'
      fault(['routes', each], message)
    }
  })
  .meta({ id: 'StoreRoutingRequest' })

/** Routes as they are shown. */
const shownRoutes = record('StoreRoutes', {
  point: choice,
  list: choice,
  aggregate: choice,
  explorer: choice,
})

/** What GET and PUT answer. */
export const routingSchema = record('StoreRouting', {
  project_id: z.uuid(),
  write_stores: z.array(z.enum(storeNames)),
  hot_window_hours: z.int(),
  routes: shownRoutes,
  fallback: z.boolean(),
  version: z.int().describe('0 while the default holds, one more with each change.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.uuid().nullable(),
  hot_window: z
    .strictObject({
      readable_from: z.iso
        .datetime()
        .nullable()
        .describe('PostgreSQL can be asked for what begins from here on; null: for nothing yet.'),
      backfill: z
        .strictObject({
          job_id: z.uuid(),
          state: z.enum(['queued', 'running', 'succeeded', 'failed']),
          done: z.int().describe('Hours that are copied.'),
          of: z.int().nullable().describe('Hours in all; null before the run has begun.'),
          rows: z.int().describe('Rows copied.'),
          error: z.string().nullable(),
        })
        .meta({ id: 'Backfill' })
        .nullable()
        .describe('The run that fills the hot window.'),
      incomplete_days: z
        .array(record('IncompleteDay', { day: z.iso.date(), reason: z.string() }))
        .describe(
          'Days of which rows are missing in PostgreSQL; a backfill repairs them by itself.',
        ),
    })
    .meta({ id: 'HotWindow' })
    .nullable()
    .describe('What is in PostgreSQL; null when nothing is written there.'),
})
