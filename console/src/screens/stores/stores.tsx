import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { Benchmarks } from './benchmarks.tsx'
import { Explain } from './explain.tsx'
import { Routing } from './routing.tsx'
import { Scorecard } from './scorecard.tsx'

/** Which store answers what: the settings, their reasons, and measurements. */
export function Stores() {
  return (
    <div className={ui.stack}>
      <Heading title="Stores" />
      <Tabs
        label="Stores"
        tabs={[
          { id: 'routing', title: 'Routing', render: () => <Routing /> },
          { id: 'explain', title: 'Explain', render: () => <Explain /> },
          { id: 'scorecard', title: 'Scorecard', render: () => <Scorecard /> },
          { id: 'benchmarks', title: 'Benchmarks', render: () => <Benchmarks /> },
        ]}
      />
    </div>
  )
}
