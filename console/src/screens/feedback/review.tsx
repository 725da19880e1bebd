import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { Agreement } from './agreement.tsx'
import { Queue } from './queue.tsx'

/** The review queue: tasks whose labels are most useful, and how far reviewers agree. */
export function Review() {
  return (
    <div className={ui.stack}>
      <Heading title="Review" />
      <Tabs
        label="Review"
        tabs={[
          { id: 'queue', title: 'Queue', render: () => <Queue /> },
          { id: 'agreement', title: 'Agreement and precision', render: () => <Agreement /> },
        ]}
      />
    </div>
  )
}
