import { call } from '../../api/client.ts'
import type { RestoreRun } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'

/** The restores, newest first, with their progress. */
export function RestoreRuns() {
  const project_id = useProjectId()
  const runs = useRunPages(
    ['restore-runs', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/restore/runs', {
        params: { query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <List
      label="Restores"
      pages={runs}
      columns={columns}
      keyOf={({ job_id }) => job_id}
      empty={
        <Empty title="Nothing was restored">
          <p>Open an archive and choose “Restore”.</p>
        </Empty>
      }
    />
  )
}

const columns: Column<RestoreRun>[] = [
  { id: 'created', head: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'archive',
    head: 'Archive',
    cell: ({ archive_run_id }) => (
      <HereLink change={{ tab: undefined, run: archive_run_id }}>open</HereLink>
    ),
  },
  { id: 'rows', head: 'Rows', cell: (run) => <Rows of={run} /> },
  {
    id: 'erased',
    head: 'Left out as erased',
    number: true,
    wide: true,
    cell: ({ result }) => result && formatCount(result.erased_rows),
  },
  { id: 'by', head: 'By', wide: true, cell: ({ requested_by }) => <Actor of={requested_by} /> },
]

function Rows({ of: { state, progress, result, error } }: { of: RestoreRun }) {
  if (result !== null) return formatCount(result.rows)
  if (error !== null) return <Plain>{error}</Plain>
  if (!isUnderWay(state)) return null
  if (progress === null) return <Progress label="Starting" />
  const { files, files_total, rows } = progress
  const label = `${files} of ${files_total} files, ${formatCount(rows)} rows`
  return <Progress label={label} done={files} of={files_total} />
}
