import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../../api/client.ts'
import type { AggregateQuery } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { Choice } from '../../ui/fields.tsx'
import { formatCompact, formatCount, formatUsd } from '../../ui/format.ts'
import { Button, Heading, Tile } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { findingKinds } from '../shared/finding-kinds.ts'
import { severities } from '../shared/severities.ts'
import { type Bucket, bucketOf, stackOf } from './findings-chart.ts'
import { FindingsList } from './findings-list.tsx'
import { type FindingsFilter, filterOf, groupings, whereOf, windowOf } from './findings-query.ts'
import { Precision } from './precision.tsx'
import { TasksWithFindings } from './tasks-with-findings.tsx'

/** The findings of a project over time, by type and by task, and the precision of detectors. */
export function Findings() {
  const [search] = useUrlState()
  const filter = filterOf(search, serverNow())
  return (
    <>
      <Heading title="Findings" />
      <Filters filter={filter} />
      <Totals filter={filter} />
      <OverTime filter={filter} />
      <Tabs
        label="Parts of the findings"
        tabs={[
          { id: 'findings', title: 'Findings', render: () => <FindingsList filter={filter} /> },
          { id: 'types', title: 'By type', render: () => <ByType filter={filter} /> },
          { id: 'tasks', title: 'Tasks', render: () => <TasksWithFindings filter={filter} /> },
          { id: 'precision', title: 'Precision', render: () => <Precision filter={filter} /> },
        ]}
      />
    </>
  )
}

function Filters({ filter }: { filter: FindingsFilter }) {
  const [, change] = useUrlState()
  return (
    <search className={ui.row}>
      <Choice
        label="Kind"
        value={filter.kind ?? ''}
        choices={[['', 'All kinds'], ...findingKinds.map((each) => [each, each] as const)]}
        onChoose={(kind) => change({ kind, type: undefined })}
      />
      <Choice
        label="Lowest severity"
        value={filter.severity ?? ''}
        choices={[
          ['', 'All severities'],
          ...severities.map((each) => [each, `${each} or worse`] as const),
        ]}
        onChoose={(severity) => change({ severity })}
      />
      <Choice
        label="Colours"
        value={filter.by}
        choices={groupings}
        onChoose={(by) => change({ by: by === 'kind' ? undefined : by })}
      />
      {filter.type !== undefined && (
        <Button small onClick={() => change({ type: undefined })}>
          Type <Plain>{filter.type}</Plain> ×
        </Button>
      )}
    </search>
  )
}

function Totals({ filter }: { filter: FindingsFilter }) {
  const totals = useFindingsTotals(filter)
  return (
    <Loaded query={totals} what="Counting findings">
      {(data) => {
        const row = data.rows[0] ?? {}
        const count = Number(row['n'] ?? 0)
        return (
          <div className={ui.tiles}>
            <Tile name="Findings">{formatCount(count)}</Tile>
            <Tile name="Tasks">{formatCount(Number(row['tasks'] ?? 0))}</Tile>
            <Tile name="Wasted">{formatUsd(String(row['cost'] ?? '0'))}</Tile>
            <Tile name="Wasted tokens">{formatCompact(Number(row['tokens'] ?? 0))}</Tile>
          </div>
        )
      }}
    </Loaded>
  )
}

type Asked = Pick<AggregateQuery, 'measures'> & Partial<Pick<AggregateQuery, 'group_by' | 'limit'>>

/** Reads an aggregate of findings. The rows of the range before stay until the new ones are read. */
function useAggregate(filter: FindingsFilter, asked: Asked) {
  const project_id = useProjectId()
  const body = {
    entity: 'findings' as const,
    window: windowOf(filter),
    where: whereOf(filter),
    // A range of a link may be longer than the API reads by default.
    allow_wide: true,
    include_restored: false,
    limit: 50,
    group_by: [],
    fill: false,
    ...asked,
  }
  return useQuery({
    queryKey: ['findings', project_id, body],
    queryFn: async ({ signal }) => {
      const { data } = await call.POST('/api/v2/observability/query/aggregate', { body, signal })
      return { rows: data?.rows ?? [] }
    },
    placeholderData: keepPreviousData,
  })
}

const rows_max = 10_000

/** Reads the number of findings in each bucket and group. */
function useFindingsOver(filter: FindingsFilter, bucket: Bucket) {
  return useAggregate(filter, {
    measures: [{ fn: 'count', as: 'n' }],
    group_by: [{ time_bucket: bucket.name }, filter.by],
    limit: rows_max,
  })
}

const measures: Asked['measures'] = [
  { fn: 'count', as: 'n' },
  { fn: 'count_distinct', field: 'task_id', as: 'tasks' },
  { fn: 'sum', field: 'wasted_cost_usd', as: 'cost' },
  { fn: 'sum', field: 'wasted_tokens', as: 'tokens' },
]

/** Reads the sums of all findings of the filter. */
function useFindingsTotals(filter: FindingsFilter) {
  return useAggregate(filter, { measures })
}

/** Reads the sums by type, the most frequent first. */
function useFindingsByType(filter: FindingsFilter) {
  return useAggregate(filter, { measures, group_by: ['kind', 'type'], limit: 200 })
}

function OverTime({ filter }: { filter: FindingsFilter }) {
  const [, change] = useUrlState()
  const bucket = bucketOf(filter.to_ms - filter.from_ms)
  const over = useFindingsOver(filter, bucket)
  useLive('findings', () => void over.refetch())
  return (
    <Loaded query={over} what="Reading the chart">
      {(data) => (
        <Stack
          rows={data.rows}
          filter={filter}
          onSelect={(from, to) =>
            change(
              { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
              { push: true },
            )
          }
        />
      )}
    </Loaded>
  )
}

function Stack({
  rows,
  filter,
  onSelect,
}: {
  rows: readonly Readonly<Record<string, unknown>>[]
  filter: FindingsFilter
  onSelect: (from: number, to: number) => void
}) {
  const { from_ms, to_ms, by } = filter
  const { x, series } = useMemo(() => {
    const bucket = bucketOf(to_ms - from_ms)
    return stackOf(rows, by, { from_ms, to_ms, bucket })
  }, [rows, by, from_ms, to_ms])
  if (series.length === 0) {
    return (
      <Empty title="No findings in this range">
        <p>Findings are loops, failures, lost context and claims without support.</p>
      </Empty>
    )
  }
  const label = `Findings per ${bucketOf(to_ms - from_ms).name}`
  return <Chart label={label} look="bars" stacked {...{ x, series, onSelect }} />
}

type Row = Readonly<Record<string, unknown>>

/** Findings by type: how many, in how many tasks, and what they wasted. */
function ByType({ filter }: { filter: FindingsFilter }) {
  const types = useFindingsByType(filter)
  const [, change] = useUrlState()
  return (
    <Loaded query={types} what="Reading the types">
      {({ rows }) => (
        <Table
          label="Types of findings"
          rows={rows}
          columns={columns((type) => change({ type, tab: undefined }, { push: true }))}
          keyOf={(row) => `${row['kind']} ${row['type']}`}
          empty={<Empty title="No findings in this range" />}
        />
      )}
    </Loaded>
  )
}

const columns = (choose: (type: string) => void): Column<Row>[] => [
  { id: 'kind', head: 'Kind', cell: (row) => <Plain>{String(row['kind'])}</Plain> },
  {
    id: 'type',
    head: 'Type',
    cell: (row) => (
      <Button small look="plain" onClick={() => choose(String(row['type']))}>
        <Plain>{String(row['type'])}</Plain>
      </Button>
    ),
  },
  { id: 'n', head: 'Findings', number: true, cell: (row) => formatCount(Number(row['n'])) },
  { id: 'tasks', head: 'Tasks', number: true, cell: (row) => formatCount(Number(row['tasks'])) },
  {
    id: 'cost',
    head: 'Wasted',
    number: true,
    cell: (row) => formatUsd(String(row['cost'] ?? '0')),
  },
  {
    id: 'tokens',
    head: 'Tokens',
    number: true,
    wide: true,
    cell: (row) => formatCompact(Number(row['tokens'])),
  },
]
