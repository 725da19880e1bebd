import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { CriticalPath as Path, TaskCriticalPath as TaskPath } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatDuration, formatShare, formatUsd } from '../../ui/format.ts'
import { Severity } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import type { Source } from './read-outline.ts'

/** The path of a trace, or that of a task with the parts of its findings. */
type AnyPath = Path & Partial<Pick<TaskPath, 'findings' | 'in_findings'>>

async function readPath({ kind, id }: Source, signal: AbortSignal): Promise<AnyPath> {
  const query = { limit: 200 }
  const { data } =
    kind === 'trace'
      ? await call.GET('/api/v2/observability/traces/{trace_id}/critical-path', {
          params: { path: { trace_id: id }, query },
          signal,
        })
      : await call.GET('/api/v1/tasks/{task_id}/critical-path', {
          params: { path: { task_id: id }, query },
          signal,
        })
  if (data === undefined) throw new Error('The server sent no path')
  return data as AnyPath
}

/** The critical path: making other steps faster does not make the trace or task faster. */
export function CriticalPath({ source, treeTab }: { source: Source; treeTab: string | undefined }) {
  const project_id = useProjectId()
  const query = useQuery({
    queryKey: ['critical-path', project_id, source.kind, source.id],
    queryFn: ({ signal }) => readPath(source, signal),
  })
  const [, change] = useUrlState()
  return (
    <Loaded query={query} what="Reading the critical path">
      {(path) => (
        <div className={ui.stack}>
          <Shares path={path} />
          {path.findings !== undefined && path.findings.length > 0 && (
            <>
              <h2>By finding</h2>
              <Table
                label="Findings on the critical path"
                columns={findingColumns}
                rows={path.findings}
                keyOf={({ finding_id }) => finding_id}
              />
            </>
          )}
          <h2>By operation</h2>
          <Table
            label="Operations on the critical path"
            columns={operationColumns}
            rows={path.operations}
            keyOf={({ type, name }) => `${type} ${name}`}
            empty={<Empty title="There is no finished step" />}
          />
          <h2>By step</h2>
          <Table
            label="Steps on the critical path"
            columns={nodeColumns}
            rows={path.nodes}
            keyOf={({ trace_id, node_id }) => `${trace_id} ${node_id}`}
            onOpen={({ node_id }) => change({ tab: treeTab, node: node_id }, { push: true })}
          />
        </div>
      )}
    </Loaded>
  )
}

function Shares({ path: { root, roots, used, in_findings } }: { path: AnyPath }) {
  if (root === null) return null
  const { tokens, cost_usd } = used
  return (
    <p>
      {root.node_id === '' ? 'The task' : <Plain>{root.name}</Plain>} took{' '}
      {formatDuration(root.duration_ms)}
      {roots > 1 && root.node_id !== '' && `, the longest of ${roots} roots`}
      {in_findings !== undefined &&
        in_findings.share > 0 &&
        `, ${formatShare(in_findings.share)} of it in the steps of findings`}
      . The path used{' '}
      {tokens.share === null ? 'no tokens' : `${formatShare(tokens.share)} of the tokens`} and{' '}
      {formatUsd(cost_usd.path)} of {formatUsd(cost_usd.trace)}.
    </p>
  )
}

const findingColumns: Column<TaskPath['findings'][number]>[] = [
  { id: 'summary', head: 'Finding', cell: ({ summary }) => <Plain>{summary}</Plain> },
  { id: 'severity', head: 'Severity', cell: ({ severity }) => <Severity of={severity} /> },
  {
    id: 'on_path',
    head: 'On the path',
    number: true,
    cell: ({ on_path_ms }) => formatDuration(on_path_ms),
  },
  { id: 'share', head: 'Share', number: true, cell: ({ share }) => formatShare(share) },
  {
    id: 'wasted',
    head: 'Wasted',
    number: true,
    cell: ({ wasted_cost_usd }) => formatUsd(wasted_cost_usd),
  },
]

const operationColumns: Column<Path['operations'][number]>[] = [
  { id: 'name', head: 'Operation', cell: (of) => <StepName of={of} /> },
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
  { id: 'name', head: 'Step', cell: (of) => <StepName of={of} /> },
  { id: 'type', head: 'Type', cell: ({ type }) => type },
  {
    id: 'on_path',
    head: 'On the path',
    number: true,
    cell: ({ on_path_ms }) => formatDuration(on_path_ms),
  },
  { id: 'share', head: 'Share', number: true, cell: ({ share }) => formatShare(share) },
]

/** The name of a step; that of the whole task is empty. */
function StepName({ of: { type, name } }: { of: { type: string; name: string } }) {
  return type === 'synthetic' && name === '' ? 'between recorded steps' : <Plain>{name}</Plain>
}
