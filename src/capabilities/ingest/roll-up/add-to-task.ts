import { fingerprints_max } from '../../storage/index.ts'

/** What the lists of models and of providers hold, as the store's roll-ups have them. */
const listed_max = 100

/**
 * True (in SQL, of `tasks` and `excluded`) when a batch's roll-up can be added to a task's: no
 * fingerprint of it is counted yet, the lists have room, nobody ended the task, and the latest name
 * and ids are known without the observations, because the batch is later than all that is counted
 * or does not contradict it. Null where the task's fingerprints are not known, as good as false.
 */
export const isSurelyNew = `
  not tasks.counted && excluded.counted
  and cardinality(tasks.counted) + cardinality(excluded.counted) <= ${fingerprints_max}
  and cardinality(tasks.models) + cardinality(excluded.models) <= ${listed_max}
  and cardinality(tasks.providers) + cardinality(excluded.providers) <= ${listed_max}
  and (tasks.ended_at is null or tasks.ended_by = 'call')
  and (excluded.started_at > tasks.last_started_at or (
    (tasks.name = '' or excluded.name in ('', tasks.name))
    and coalesce(excluded.user_id = tasks.user_id, true)
    and coalesce(excluded.conversation_id = tasks.conversation_id, true)
    and coalesce(excluded.environment = tasks.environment, true)
    and coalesce(excluded.release = tasks.release, true)))`

const isBothImplicit = '(tasks.implicit and excluded.implicit)'

const sums = [
  'calls',
  'errors',
  'cancelled',
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
  'total_tokens',
  'estimated_calls',
  'cost_usd',
  'unpriced_calls',
].map((column) => `${column} = tasks.${column} + excluded.${column}`)

const latest = ['user_id', 'conversation_id', 'environment', 'release'].map(
  (column) => `${column} = coalesce(excluded.${column}, tasks.${column})`,
)

const lists = ['models', 'providers'].map(
  (column) => `${column} = case when tasks.${column} @> excluded.${column} then tasks.${column}
    else array(select distinct item collate "C"
      from unnest(tasks.${column} || excluded.${column}) as item order by 1) end`,
)

/** The assignments that add a batch's roll-up to a task's; the state is as `taskStateAfter` says. */
export const additions = `
  name = coalesce(nullif(excluded.name, ''), tasks.name),
  implicit = ${isBothImplicit},
  state = case when not ${isBothImplicit} then 'running'
    when excluded.ended_at < tasks.ended_at then tasks.state else excluded.state end,
  ended_at = case when ${isBothImplicit} then greatest(tasks.ended_at, excluded.ended_at) end,
  ended_by = case when ${isBothImplicit} then 'call' end,
  started_at = least(tasks.started_at, excluded.started_at),
  last_started_at = greatest(tasks.last_started_at, excluded.last_started_at),
  last_activity_at = greatest(tasks.last_activity_at, excluded.last_activity_at),
  duration_ms = 1000 * extract(epoch from
    greatest(tasks.last_activity_at, excluded.last_activity_at)
    - least(tasks.started_at, excluded.started_at)),
  ${[...latest, ...sums, ...lists].join(',\n  ')},
  counted = tasks.counted || excluded.counted,
  updated_at = now()`
