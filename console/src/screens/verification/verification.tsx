import { useUrlState } from '../../browser/use-search.ts'
import { BackButton } from '../../ui/here-link.tsx'
import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { Answers } from './answers.tsx'
import { CalibrationTab } from './calibration.tsx'
import { Documents } from './documents.tsx'
import { Facts } from './facts.tsx'
import { PolicyTab } from './policy.tsx'
import { TaskRuns } from './task-runs.tsx'
import { TracePart } from './trace-part.tsx'

/** The claims of the agents, and their evidence: answers, rules, documents, facts, calibration. */
export function Verification() {
  return (
    <div className={ui.stack}>
      <Heading title="Verification" />
      <Tabs
        label="Verification"
        tabs={[
          { id: 'answers', title: 'Answers', render: () => <AnswersTab /> },
          { id: 'policy', title: 'Policy', render: () => <PolicyTab /> },
          { id: 'documents', title: 'Documents', render: () => <Documents /> },
          { id: 'facts', title: 'Facts', render: () => <Facts /> },
          { id: 'calibration', title: 'Calibration', render: () => <CalibrationTab /> },
        ]}
      />
    </div>
  )
}

function AnswersTab() {
  const [{ trace, task }] = useUrlState()
  if (trace === undefined && task === undefined) return <Answers />
  return (
    <div className={ui.stack}>
      <BackButton
        all="answers"
        change={{ trace: undefined, task: undefined, claim: undefined, run: undefined }}
      />
      {trace === undefined ? (
        <TaskRuns task_id={task ?? ''} />
      ) : (
        <TracePart key={trace} trace_id={trace} />
      )}
    </div>
  )
}
