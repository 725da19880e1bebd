import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { ErasureList } from './erasure-list.tsx'
import { Holds } from './holds.tsx'

/** Legal holds, which keep data from deletion, and erasures of the data of a user. */
export function Erasures() {
  return (
    <div className={ui.stack}>
      <Heading title="Holds and erasures" />
      <Tabs
        label="Holds and erasures"
        tabs={[
          { id: 'holds', title: 'Legal holds', render: () => <Holds /> },
          { id: 'erasures', title: 'Erasures', render: () => <ErasureList /> },
        ]}
      />
    </div>
  )
}
