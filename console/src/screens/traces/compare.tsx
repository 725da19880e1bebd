import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { ComparedPair, TraceComparison } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Badge, Heading, type Tone } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { CompareForm } from './compare-form.tsx'

/** Pairs that are read at once; the API's page. */
const pairs_max = 200

/** Two traces side by side: what was added, removed, or took another time or cost. */
export function Compare() {
  const [{ left, right }] = useUrlState()
  return (
    <>
      <Heading title="Compare two traces">
        <CompareForm left={left ?? ''} right={right ?? ''} />
      </Heading>
      {left && right ? (
        <Comparison left={left} right={right} />
      ) : (
        <Empty title="Choose two traces">
          <p>Open a trace, and enter the id of the other one.</p>
        </Empty>
      )}
    </>
  )
}

function Comparison({ left, right }: { left: string; right: string }) {
  const [search, change] = useUrlState()
  const changes = search['all'] === undefined
  const query = api.useQuery('get', '/api/v2/observability/traces/{trace_id}/comparison', {
    params: { path: { trace_id: left }, query: { with: right, changes, limit: pairs_max } },
  })
  return (
    <Loaded query={query} what="Comparing">
      {(comparison) => (
        <div className={ui.stack}>
          {!comparison.same_task_name && (
            <p className={ui.notice}>The traces belong to tasks with different names.</p>
          )}
          <Sides of={comparison} />
          <label className={ui.row}>
            <input
              type="checkbox"
              checked={!changes}
              onChange={() => change({ all: changes ? '1' : undefined })}
            />
            Show equal steps too
          </label>
          <Table
            label="Steps"
            columns={columns}
            rows={comparison.pairs}
            keyOf={({ left: a, right: b }) => `${a?.node_id} ${b?.node_id}`}
            empty={<Empty title="The steps are equal" />}
          />
          {comparison.total > comparison.pairs.length && (
            <p className={ui.soft}>
              The first {formatCount(comparison.pairs.length)} of {formatCount(comparison.total)}{' '}
              steps are shown.
            </p>
          )}
        </div>
      )}
    </Loaded>
  )
}

function Sides({ of: { left, right, counts } }: { of: TraceComparison }) {
  const project_id = useProjectId()
  const rows = [
    { name: 'Left', ...left },
    { name: 'Right', ...right },
  ]
  return (
    <>
      <p>
        {formatCount(counts.matched)} equal, {formatCount(counts.changed)} changed,{' '}
        {formatCount(counts.added)} added, {formatCount(counts.removed)} removed steps.
      </p>
      <Table
        label="The two traces"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { id: 'side', head: 'Side', cell: ({ name }) => name },
          {
            id: 'trace',
            head: 'Trace',
            cell: ({ trace_id }) => (
              <Link to="/p/$project_id/traces/$trace_id" params={{ project_id, trace_id }}>
                {trace_id}
              </Link>
            ),
          },
          {
            id: 'duration',
            head: 'Duration',
            number: true,
            cell: ({ summary }) => formatDuration(summary.duration_ms),
          },
          {
            id: 'steps',
            head: 'Steps',
            number: true,
            cell: ({ summary }) => formatCount(summary.rollup.observations),
          },
          {
            id: 'cost',
            head: 'Cost',
            number: true,
            cell: ({ summary }) => formatUsd(summary.rollup.cost_usd),
          },
        ]}
      />
    </>
  )
}

const tones: Record<ComparedPair['state'], Tone | undefined> = {
  matched: undefined,
  changed: 'warn',
  added: 'good',
  removed: 'bad',
}

const columns: Column<ComparedPair>[] = [
  { id: 'state', head: 'Change', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  {
    id: 'name',
    head: 'Step',
    cell: ({ name, depth }) => (
      <span style={{ paddingLeft: Math.min(depth, 12) * 12 }}>
        <Plain>{name}</Plain>
      </span>
    ),
  },
  { id: 'type', head: 'Type', wide: true, cell: ({ type }) => type },
  {
    id: 'left',
    head: 'Left',
    number: true,
    cell: ({ left }) => (left === null ? '–' : formatDuration(left.duration_ms)),
  },
  {
    id: 'right',
    head: 'Right',
    number: true,
    cell: ({ right }) => (right === null ? '–' : formatDuration(right.duration_ms)),
  },
  {
    id: 'cost',
    head: 'Cost',
    number: true,
    wide: true,
    cell: ({ difference }) => (difference === null ? '' : signed(difference.cost_usd)),
  },
]

function signed(decimal: string): string {
  return decimal.startsWith('-') ? `−${formatUsd(decimal.slice(1))}` : `+${formatUsd(decimal)}`
}
