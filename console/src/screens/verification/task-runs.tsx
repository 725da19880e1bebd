import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import type { VerificationRun } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { formatShare, formatUsd } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Trust } from './trust.tsx'

/** The verifications of the answers of a task, newest first. */
export function TaskRuns({ task_id }: { task_id: string }) {
  const project_id = useProjectId()
  const runs = useRunPages(
    ['task-verifications', project_id, task_id],
    (cursor, signal) =>
      call.GET('/api/v1/verification/tasks/{task_id}', {
        params: { path: { task_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <h2>
          Answers of <Plain>{task_id}</Plain>
        </h2>
        <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
          Open the task
        </Link>
      </div>
      <List
        label="Verifications"
        pages={runs}
        columns={columns}
        keyOf={({ run_id }) => run_id}
        empty={
          <Empty title="No answer of this task is verified">
            <p>Verify it by its id in the list of answers.</p>
          </Empty>
        }
      />
    </div>
  )
}

export const columns: Column<VerificationRun>[] = [
  {
    id: 'started',
    head: 'Started',
    cell: ({ trace_id, created_at, run_id }) => (
      <HereLink change={{ trace: trace_id, run: run_id, claim: undefined }}>
        <Time at={created_at} />
      </HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'trust',
    head: 'Trust',
    cell: ({ trust_score, interval }) => <Trust score={trust_score} interval={interval} />,
  },
  {
    id: 'coverage',
    head: 'Coverage',
    number: true,
    wide: true,
    cell: ({ coverage }) => coverage !== null && formatShare(coverage),
  },
  { id: 'claims', head: 'Claims', number: true, cell: ({ claims_total }) => claims_total },
  {
    id: 'cost',
    head: 'Cost',
    number: true,
    wide: true,
    cell: ({ cost_usd }) => formatUsd(cost_usd),
  },
  { id: 'trigger', head: 'Started by', wide: true, cell: ({ trigger }) => trigger },
  { id: 'by', head: 'Who', wide: true, cell: ({ requested_by }) => <Actor of={requested_by} /> },
]
