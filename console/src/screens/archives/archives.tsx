import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { ArchiveRuns } from './archive-runs.tsx'
import { RestoreRuns } from './restore-runs.tsx'
import { Slices } from './slices.tsx'
import { StartArchive } from './start-archive.tsx'

/** The archives of the project, and the slices that were restored from them. */
export function Archives() {
  return (
    <div className={ui.stack}>
      <Heading title="Archives">
        <StartArchive />
      </Heading>
      <Tabs
        label="Archives"
        tabs={[
          { id: 'archives', title: 'Archives', render: () => <ArchiveRuns /> },
          { id: 'slices', title: 'Restored slices', render: () => <Slices /> },
          { id: 'restores', title: 'Restores', render: () => <RestoreRuns /> },
        ]}
      />
    </div>
  )
}
