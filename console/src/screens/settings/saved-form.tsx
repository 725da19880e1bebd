import type { ReactNode } from 'react'
import { Form } from '../../ui/form.tsx'
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
    <Form
      of={{ error: write.error, isPending: write.isRunning }}
      action={`Save the ${what}`}
      disabled={!mayChange}
      onSubmit={() => void write.run(save)}
      onReload={reload}
    >
      {children}
    </Form>
  )
}
