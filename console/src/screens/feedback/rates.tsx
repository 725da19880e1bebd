import { useMemo } from 'react'
import { api } from '../../api/client.ts'
import type { FeedbackStats } from '../../api/schema.gen.d.ts'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatDay, formatShare } from '../../ui/format.ts'
import { Tile } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Rate, SourceChoice, useSource } from './source.tsx'

type Group = FeedbackStats['groups']['tool'][number]

/** Votes over time, and rates by tool, model, task name, release and environment. */
export function Rates() {
  const { source, ...range } = useSource()
  const stats = api.useQuery('get', '/api/v1/feedback/stats', {
    params: { query: { ...range, source } },
  })
  return (
    <div className={ui.stack}>
      <SourceChoice source={source} />
      <Loaded query={stats} what="Reading the rates">
        {(data) => <Stats of={data} />}
      </Loaded>
    </div>
  )
}

function Stats({ of }: { of: FeedbackStats }) {
  const own = of.sources.find(({ source }) => source === of.source)
  if (own === undefined || own.votes === 0) {
    return (
      <Empty title="No feedback in this range">
        <p>Send it when a user clicks, with the id of the task:</p>
        <code>POST /api/v1/tasks/&lt;task id&gt;/feedback {'{"thumbs": "down"}'}</code>
      </Empty>
    )
  }
  return (
    <>
      <div className={ui.tiles}>
        <Tile name="Votes">{formatCount(own.votes)}</Tile>
        <Tile name="Negative">{own.rate === null ? 'none' : formatShare(own.rate)}</Tile>
        <Tile name="Interval over users">
          {own.interval === null
            ? 'too few users'
            : own.interval.map((share: number) => formatShare(share)).join(' to ')}
        </Tile>
        <Tile name="Users">{formatCount(own.clusters)}</Tile>
        <Tile name="Tasks with feedback">
          {of.response.rate === null ? 'none' : formatShare(of.response.rate)}
        </Tile>
        {of.pending > 0 && <Tile name="Not counted yet">{formatCount(of.pending)}</Tile>}
      </div>
      <Votes unit={of.unit} points={own.series} />
      {of.dropped.map(({ reason, items }) => (
        <p key={reason} className={ui.soft}>
          {formatCount(items)} items are not counted: {reason.replaceAll('_', ' ')}.
        </p>
      ))}
      <Groups of={of} />
      {of.labels.length > 0 && (
        <>
          <h2>Labels</h2>
          <Table
            label="Labels"
            columns={labelColumns}
            rows={of.labels}
            keyOf={(row) => row.label}
          />
        </>
      )}
    </>
  )
}

type Point = FeedbackStats['sources'][number]['series'][number]

/** Votes over time. Days are those of UTC. */
function Votes({ unit, points }: { unit: FeedbackStats['unit']; points: readonly Point[] }) {
  const isDay = unit === 'day'
  const { x, series } = useMemo(() => {
    const place = (at: string) => Date.parse(at) / (isDay ? 86_400_000 : 1)
    const votes = ['negative', 'neutral', 'positive'] as const
    return {
      x: points.map(({ at }) => place(at)),
      series: votes.map((name) => ({ name, values: points.map((point) => point[name]) })),
    }
  }, [points, isDay])
  const label = isDay ? 'Votes per day (UTC)' : `Votes per ${unit}`
  return (
    <Chart
      label={label}
      look="bars"
      stacked
      {...(isDay && { formatX: formatDay })}
      {...{ x, series }}
    />
  )
}

const titles = {
  task_name: 'Task names',
  tool: 'Tools',
  model: 'Models',
  release: 'Releases',
  environment: 'Environments',
} as const

function Groups({ of: { groups } }: { of: FeedbackStats }) {
  return Object.entries(titles).map(([kind, title]) => {
    const rows = groups[kind as keyof typeof titles]
    if (rows.length === 0) return null
    return (
      <section key={kind} className={ui.stack} aria-label={title}>
        <h2>{title}</h2>
        <Table label={title} columns={columns} rows={rows} keyOf={({ value }) => value} />
      </section>
    )
  })
}

const columns: Column<Group>[] = [
  { id: 'value', head: 'Name', cell: ({ value }) => <Plain>{value}</Plain> },
  {
    id: 'rate',
    head: 'Negative',
    cell: ({ rate, interval }) => <Rate rate={rate} interval={interval} />,
  },
  { id: 'votes', head: 'Votes', number: true, cell: ({ votes }) => formatCount(votes) },
  {
    id: 'users',
    head: 'Users',
    number: true,
    wide: true,
    cell: ({ clusters }) => formatCount(clusters),
  },
  { id: 'tasks', head: 'Tasks', number: true, wide: true, cell: ({ tasks }) => formatCount(tasks) },
  {
    id: 'response',
    head: 'With feedback',
    number: true,
    cell: ({ response_rate }) => (response_rate === null ? '' : formatShare(response_rate)),
  },
]

const labelColumns: Column<FeedbackStats['labels'][number]>[] = [
  { id: 'label', head: 'Label', cell: ({ label }) => <Plain>{label}</Plain> },
  { id: 'votes', head: 'Votes', number: true, cell: ({ votes }) => formatCount(votes) },
  { id: 'negative', head: 'Negative', number: true, cell: ({ negative }) => formatCount(negative) },
  { id: 'positive', head: 'Positive', number: true, cell: ({ positive }) => formatCount(positive) },
]
