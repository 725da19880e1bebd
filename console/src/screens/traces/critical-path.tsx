import { api } from '../../api/client.ts'
import type { CriticalPath as Path } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatDuration, formatShare, formatUsd } from '../../ui/format.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

/** The critical path: making other steps faster does not make the trace faster. */
export function CriticalPath({ trace_id }: { trace_id: string }) {
  const query = api.useQuery('get', '/api/v2/observability/traces/{trace_id}/critical-path', {
    params: { path: { trace_id }, query: { limit: 200 } },
  })
  const [, change] = useUrlState()
  return (
    <Loaded query={query} what="Reading the critical path">
      {(path) => (
        <div className={ui.stack}>
          <Shares path={path} />
          <h2>By operation</h2>
          <Table
            label="Operations on the critical path"
            columns={operationColumns}
            rows={path.operations}
            keyOf={({ type, name }) => `${type} ${name}`}
            empty={<Empty title="The trace has no finished step" />}
          />
          <h2>By step</h2>
          <Table
            label="Steps on the critical path"
            columns={nodeColumns}
            rows={path.nodes}
            keyOf={({ node_id }) => node_id}
            onOpen={({ node_id }) => change({ tab: undefined, node: node_id }, { push: true })}
          />
        </div>
      )}
    </Loaded>
  )
}

function Shares({ path: { root, roots, used } }: { path: Path }) {
  if (root === null) return null
  const { tokens, cost_usd } = used
  return (
    <p>
      <Plain>{root.name}</Plain> took {formatDuration(root.duration_ms)}
      {roots > 1 && `, the longest of ${roots} roots`}. The path used{' '}
      {tokens.share === null ? 'no tokens' : `${formatShare(tokens.share)} of the tokens`} and{' '}
      {formatUsd(cost_usd.path)} of {formatUsd(cost_usd.trace)}.
    </p>
  )
}

const operationColumns: Column<Path['operations'][number]>[] = [
  { id: 'name', head: 'Operation', cell: ({ name }) => <Plain>{name}</Plain> },
  { id: 'type', head: 'Type', cell: ({ type }) => type },
  { id: 'count', head: 'Steps', number: true, cell: ({ observations }) => observations },
  {
    id: 'on_path',
    head: 'On the path',
    number: true,
    cell: ({ on_path_ms }) => formatDuration(on_path_ms),
  },
  { id: 'share', head: 'Share', number: true, cell: ({ share }) => formatShare(share) },
  { id: 'cost', head: 'Cost', number: true, cell: ({ cost_usd }) => formatUsd(cost_usd) },
]

const nodeColumns: Column<Path['nodes'][number]>[] = [
  { id: 'name', head: 'Step', cell: ({ name }) => <Plain>{name}</Plain> },
  { id: 'type', head: 'Type', cell: ({ type }) => type },
  {
    id: 'on_path',
    head: 'On the path',
    number: true,
    cell: ({ on_path_ms }) => formatDuration(on_path_ms),
  },
  { id: 'share', head: 'Share', number: true, cell: ({ share }) => formatShare(share) },
]
