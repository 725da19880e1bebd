import type { Body, Filter } from '../query/body.ts'

const isCall: Filter = { field: 'is_call', op: 'eq', value: true }

const isCounted: Filter = { field: 'state', op: 'ne', value: 'withdrawn' }

/** Rows of charts: seven groups in up to 61 buckets. */
const maxChartRows = 1_000

const tableRows = 6

/** One query of the overview: a chart if it has buckets of time, else a table. */
export type Panel = {
  title: string
  body: Body
  /** The unit of the values of a chart. */
  unit?: string
}

/** The sums and shares that the tiles show. */
export const totals: Body = {
  entity: 'observations',
  where: isCall,
  measures: [
    { fn: 'count', as: 'calls' },
    { fn: 'sum', field: 'cost_usd', as: 'cost_usd' },
    { fn: 'sum', field: 'total_tokens', as: 'total_tokens' },
    { fn: 'error_rate', as: 'error_rate' },
    { fn: 'p95', field: 'duration_ms', as: 'p95_duration_ms' },
    { fn: 'p95', field: 'time_to_first_token_ms', as: 'p95_time_to_first_token_ms' },
  ],
}

/** The money and tokens of calls that loops and failures wasted. */
export const waste: Body = {
  entity: 'findings',
  where: isCounted,
  measures: [
    { fn: 'count', as: 'findings' },
    { fn: 'sum', field: 'wasted_cost_usd', as: 'wasted_cost_usd' },
    { fn: 'sum', field: 'wasted_tokens', as: 'wasted_tokens' },
  ],
}

/** Returns the questions about cost, with buckets of a width. */
export function costPanels(time_bucket: string): Panel[] {
  const cost = { fn: 'sum' as const, field: 'cost_usd', as: 'cost_usd' }
  return [
    {
      title: 'Cost by model',
      unit: `US dollars in ${time_bucket}`,
      body: {
        entity: 'observations',
        where: isCall,
        measures: [cost],
        group_by: ['model', { time_bucket }],
        fill: true,
        limit: maxChartRows,
        top_n: { n: 6, by: 'cost_usd', other: true },
      },
    },
    {
      title: 'Cost by user',
      body: {
        entity: 'observations',
        where: isCall,
        group_by: ['user_id'],
        measures: [cost, { fn: 'count', as: 'calls' }],
        top_n: { n: tableRows - 1, by: 'cost_usd', other: true },
      },
    },
  ]
}

/** Returns the questions about errors. */
export function errorPanels(time_bucket: string): Panel[] {
  const isError: Filter = { field: 'status', op: 'eq', value: 'error' }
  return [
    {
      title: 'Failed calls',
      unit: `share of the calls in ${time_bucket}`,
      body: {
        entity: 'observations',
        where: isCall,
        group_by: [{ time_bucket }],
        measures: [{ fn: 'error_rate', as: 'error_rate' }],
        limit: maxChartRows,
        fill: true,
      },
    },
    {
      title: 'Errors by type',
      body: {
        entity: 'observations',
        where: { and: [isCall, isError] },
        limit: tableRows,
        group_by: ['error_type', 'provider', 'model'],
        measures: [{ fn: 'count', as: 'failed_calls' }],
      },
    },
  ]
}

/** Returns the questions about latency and the time to the first token. */
export function latencyPanels(time_bucket: string): Panel[] {
  const percentiles = (field: string, where: Filter): Body => ({
    entity: 'observations',
    where,
    group_by: [{ time_bucket }],
    limit: maxChartRows,
    fill: true,
    measures: [
      { fn: 'p50', field, as: 'p50_ms' },
      { fn: 'p95', field, as: 'p95_ms' },
    ],
  })
  const unit = `median and 95th percentile in ${time_bucket}`
  const isStreamed: Filter = { field: 'time_to_first_token_ms', op: 'exists', value: true }
  return [
    { title: 'Duration of calls', unit, body: percentiles('duration_ms', isCall) },
    {
      title: 'Time to the first token',
      unit,
      body: percentiles('time_to_first_token_ms', { and: [isCall, isStreamed] }),
    },
  ]
}

/** Returns the questions about loops and wasted money. */
export function wastePanels(time_bucket: string): Panel[] {
  return [
    {
      title: 'Findings by type',
      unit: `findings in ${time_bucket}`,
      body: {
        entity: 'findings',
        where: isCounted,
        limit: maxChartRows,
        fill: true,
        group_by: ['type', { time_bucket }],
        measures: [{ fn: 'count', as: 'findings' }],
        top_n: { n: 6, by: 'findings', other: true },
      },
    },
    {
      title: 'Money wasted by type',
      body: {
        entity: 'findings',
        where: isCounted,
        group_by: ['type'],
        limit: tableRows,
        measures: [
          { fn: 'sum', field: 'wasted_cost_usd', as: 'wasted_cost_usd' },
          { fn: 'sum', field: 'wasted_tokens', as: 'wasted_tokens' },
          { fn: 'count', as: 'findings' },
        ],
      },
    },
  ]
}

/** Returns the question about what arrives. */
export function ingestPanel(time_bucket: string): Panel {
  return {
    title: 'Records stored by path',
    unit: `records in ${time_bucket}`,
    body: {
      entity: 'observations',
      measures: [{ fn: 'count', as: 'records' }],
      fill: true,
      group_by: ['source', { time_bucket }],
      limit: maxChartRows,
    },
  }
}

/** Returns the range of the same length before another one. */
export function rangeBefore(window: { from: string; to: string }): { from: string; to: string } {
  const [from_ms, to_ms] = [Date.parse(window.from), Date.parse(window.to)]
  return { from: new Date(2 * from_ms - to_ms).toISOString(), to: window.from }
}

/** Returns a change in words: `12 % more`; undefined if there was nothing before. */
export function changeText(now: number | null, before: number | null): string | undefined {
  if (now === null || before === null || before === 0) return undefined
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return 'as much as before'
  return `${Math.abs(percent).toLocaleString('en')} % ${percent > 0 ? 'more' : 'less'} than before`
}
