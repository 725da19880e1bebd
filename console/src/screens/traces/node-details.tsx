import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useKeys } from '../../browser/keys.ts'
import { useProjectId } from '../../session/project.ts'
import { Content } from '../../ui/content.tsx'
import { formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Button, Facts, Severity, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './node-details.module.css'
import type { Tree } from './outline.ts'

/** Columns of an observation that the panel shows. */
const select = [
  ...['name', 'type', 'status', 'start_time', 'duration_ms', 'time_to_first_token_ms'],
  ...['provider', 'model', 'agent_name', 'service_name', 'source', 'error_type', 'error_message'],
  ...['input_tokens', 'output_tokens', 'total_tokens', 'cost_usd', 'input', 'output', 'metadata'],
]

type Row = Readonly<Record<string, unknown>>

/** The record of one step with its contents, which are read only for the selected step. */
export function NodeDetails({
  tree,
  node,
  onClose,
}: {
  tree: Tree
  node: number
  onClose: () => void
}) {
  const { outline } = tree
  const observation_id = outline.ids[node] ?? ''
  const trace_id = outline.traces[outline.trace?.[node] ?? 0] ?? ''
  useKeys({ escape: onClose })
  return (
    <aside className={css.panel} aria-label="The selected step">
      <div className={ui.row}>
        <h2 className={ui.grow}>
          <Plain>{outline.names[outline.name[node] ?? -1] ?? ''}</Plain>
        </h2>
        <Button small look="plain" onClick={onClose} aria-label="Close the step">
          ×
        </Button>
      </div>
      {tree.findings.get(node)?.map((finding) => (
        <p key={finding.finding_id}>
          <Severity of={finding.severity} /> <Plain>{finding.summary}</Plain>
        </p>
      ))}
      <CountedOnce tree={tree} node={node} />
      <Observation
        key={observation_id}
        {...{ trace_id, observation_id }}
        around={periodAround(tree, node)}
      />
    </aside>
  )
}

function CountedOnce({ tree: { outline }, node }: { tree: Tree; node: number }) {
  const other = outline.counted_with[node] ?? -1
  if (other === -1) return null
  return <p className={ui.soft}>This call was reported more than once. It is counted once.</p>
}

/** A day around the step, since its stored time can differ from the corrected one. */
function periodAround({ outline }: Tree, node: number): { from: string; to: string } {
  const day_ms = 86_400_000
  const at_ms = Date.parse(outline.origin_time) + (outline.start_us[node] ?? 0) / 1000
  const instant = (ms: number) => new Date(ms).toISOString()
  return { from: instant(at_ms - day_ms), to: instant(at_ms + day_ms) }
}

type ObservationProps = {
  trace_id: string
  observation_id: string
  around: { from: string; to: string }
}

function Observation({ trace_id, observation_id, around }: ObservationProps) {
  const where = {
    and: [
      { field: 'trace_id', op: 'eq' as const, value: trace_id },
      { field: 'observation_id', op: 'eq' as const, value: observation_id },
    ],
  }
  const query = api.useQuery('post', '/api/v2/observability/query', {
    body: { entity: 'observations', window: around, where, select, limit: 1 },
  })
  return (
    <Loaded query={query} what="Reading the step">
      {({ rows }) =>
        rows[0] === undefined ? (
          <p className={ui.soft}>
            The step has no stored record. It stands for steps whose parent was never received.
          </p>
        ) : (
          <Record row={rows[0]} trace_id={trace_id} />
        )
      }
    </Loaded>
  )
}

const textOf = (value: unknown) => (value == null || value === '' ? null : String(value))

function Record({ row, trace_id }: { row: Row; trace_id: string }) {
  const project_id = useProjectId()
  const text = (name: string) => {
    const value = textOf(row[name])
    return value === null ? null : <Plain>{value}</Plain>
  }
  const number = (name: string, format: (value: number) => string) =>
    typeof row[name] === 'number' ? format(row[name]) : null
  const cost = textOf(row['cost_usd'])
  return (
    <>
      <Facts
        of={[
          ['Status', <State key="status" of={String(row['status'])} />],
          ['Error', text('error_message') ?? text('error_type')],
          ['Started', <Time key="start" at={String(row['start_time'])} />],
          ['Duration', number('duration_ms', formatDuration)],
          ['First token', number('time_to_first_token_ms', formatDuration)],
          ['Type', text('type')],
          ['Model', text('model')],
          ['Provider', text('provider')],
          ['Agent', text('agent_name')],
          ['Service', text('service_name')],
          ['Tokens', number('total_tokens', formatCount)],
          ['Cost', cost === null ? null : formatUsd(cost)],
          ['Received by', text('source')],
          [
            'Trace',
            <Link
              key="trace"
              to="/p/$project_id/traces/$trace_id"
              params={{ project_id, trace_id }}
            >
              {trace_id.slice(0, 8)}…
            </Link>,
          ],
        ]}
      />
      <Content title="Input" value={row['input']} />
      <Content title="Output" value={row['output']} />
      <Content title="Metadata" value={row['metadata']} />
    </>
  )
}
