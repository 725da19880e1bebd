import { Link } from '@tanstack/react-router'
import type { DetectionPreview } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { formatCount } from '../../ui/format.ts'
import { Badge, Severity } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

const tones = { added: 'warn', removed: 'good', changed: 'info' } as const

/** The findings in recent tasks that other settings would add or remove. */
export function DetectionChanges({ preview }: { preview: DetectionPreview }) {
  const project_id = useProjectId()
  const { tasks, skipped, findings_now, findings_asked, changes } = preview
  return (
    <section className={ui.stack} aria-label="What would change">
      <h2>What would change</h2>
      <p role="status">
        In the last {formatCount(tasks)} tasks: {formatCount(findings_now)} findings now,{' '}
        {formatCount(findings_asked)} with these settings.
        {skipped > 0 && ` ${formatCount(skipped)} tasks could not be analysed.`}
      </p>
      <Table
        label="Changed findings"
        rows={changes}
        keyOf={({ task_id, type, start_step, change }) =>
          `${task_id} ${type} ${start_step} ${change}`
        }
        columns={[
          {
            id: 'change',
            head: 'Change',
            cell: ({ change }) => <Badge tone={tones[change]}>{change}</Badge>,
          },
          {
            id: 'finding',
            head: 'Finding',
            cell: ({ type, severity, summary }) => (
              <>
                {type.replaceAll('_', ' ')} <Severity of={severity} />
                <div>
                  <Plain>{summary}</Plain>
                </div>
              </>
            ),
          },
          {
            id: 'task',
            head: 'Task',
            cell: ({ task_id }) => (
              <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
                <Plain>{task_id}</Plain>
              </Link>
            ),
          },
        ]}
        empty={<Empty title="No finding of these tasks would change" />}
      />
    </section>
  )
}
