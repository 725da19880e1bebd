import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { ExportTab } from './export.tsx'
import { Patterns } from './patterns.tsx'
import { Rates } from './rates.tsx'

/** The feedback on the work of the agents, and the features with more negative feedback. */
export function Feedback() {
  return (
    <div className={ui.stack}>
      <Heading title="Feedback" />
      <Tabs
        label="Feedback"
        tabs={[
          { id: 'rates', title: 'Rates', render: () => <Rates /> },
          { id: 'patterns', title: 'Patterns', render: () => <Patterns /> },
          { id: 'export', title: 'Export', render: () => <ExportTab /> },
        ]}
      />
    </div>
  )
}
