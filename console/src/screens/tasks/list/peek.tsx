import { Link } from '@tanstack/react-router'
import { api } from '../../../api/client.ts'
import type { Task } from '../../../api/schema.gen.d.ts'
import { formatCompact, formatDuration, formatUsd } from '../../../ui/format.ts'
import { Button, Facts, Severity } from '../../../ui/parts.tsx'
import { Loaded } from '../../../ui/states.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { TaskState } from './columns.tsx'
import css from './list.module.css'

const findings_max = 8

/** A look at one task of the list: verdict, numbers and findings. Space and Escape close it. */
export function Peek({
  project_id,
  task,
  onClose,
}: {
  project_id: string
  task: Task
  onClose: () => void
}) {
  const { task_id, verdict } = task
  const params = { project_id, task_id }
  return (
    <section className={css.peek} aria-label="Peek at the task">
      <div className={ui.row}>
        <h2 className={ui.grow}>
          <Plain>{task.name || task_id}</Plain>
        </h2>
        <Button small look="plain" aria-label="Close the peek" onClick={onClose}>
          ×
        </Button>
      </div>
      <p>
        <TaskState task={task} /> <Plain>{verdict?.summary ?? 'Not analysed yet'}</Plain>
      </p>
      <Facts
        of={[
          ['Cost', formatUsd(task.cost_usd)],
          ['Tokens', formatCompact(task.tokens.total)],
          ['Duration', formatDuration(task.duration_ms)],
          ['Release', task.release && <Plain>{task.release}</Plain>],
        ]}
      />
      <Findings task_id={task_id} project_id={project_id} />
      <Link to="/p/$project_id/tasks/$task_id" params={params}>
        Open the task
      </Link>
    </section>
  )
}

function Findings({ task_id, project_id }: { task_id: string; project_id: string }) {
  const query = api.useQuery('get', '/api/v1/tasks/{task_id}/findings', {
    params: { path: { task_id } },
  })
  return (
    <Loaded query={query} what="Reading findings">
      {({ findings }) => {
        const shown = findings.filter(({ state }) => state !== 'withdrawn')
        return (
          <ul className={css.findings}>
            {shown.slice(0, findings_max).map(({ finding_id, severity, summary }) => (
              <li key={finding_id}>
                <Severity of={severity} /> <Plain>{summary}</Plain>{' '}
                <Link
                  to="/p/$project_id/tasks/$task_id"
                  params={{ project_id, task_id }}
                  search={{ finding: finding_id } as never}
                >
                  Show the step
                </Link>
              </li>
            ))}
            {shown.length > findings_max && <li>{shown.length - findings_max} more findings</li>}
          </ul>
        )
      }}
    </Loaded>
  )
}
