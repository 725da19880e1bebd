import type { ReactNode } from 'react'
import { Changed } from '../../ui/changed.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import type { useWrite } from './own-project.ts'

/** The form of a part of the settings that is saved as a whole, at the version that it shows. */
export function SavedForm({
  what,
  write,
  mayChange,
  reload,
  save,
  children,
}: {
  /** The part, as in "Save the environments". */
  what: string
  write: ReturnType<typeof useWrite>
  mayChange: boolean
  /** Shows the stored part, after another person has changed it. */
  reload: () => void
  save: () => Promise<unknown>
  children: ReactNode
}) {
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        void write.run(save)
      }}
    >
      {children}
      {write.error !== undefined && <Changed error={write.error} onReload={reload} />}
      <div>
        <Button type="submit" look="primary" disabled={!mayChange || write.isRunning}>
          {write.isRunning ? 'Saving…' : `Save the ${what}`}
        </Button>
      </div>
    </form>
  )
}
