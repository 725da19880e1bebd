import { useQueryClient } from '@tanstack/react-query'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'

/** The name of a person with the e-mail address below it. */
export function Person({ display_name, email }: { display_name: string; email: string }) {
  return (
    <>
      <Plain>{display_name}</Plain>
      <div>
        <Plain>{email}</Plain>
      </div>
    </>
  )
}

/** The choice of a member's role, which is sent at once. */
export function RoleSelect<R extends string>({
  label,
  role,
  roles,
  disabled = false,
  onChoose,
}: {
  label: string
  role: string
  roles: readonly R[]
  disabled?: boolean
  onChoose: (role: R) => void
}) {
  return (
    <select
      aria-label={label}
      value={role}
      disabled={disabled}
      onChange={(event) => onChoose(event.target.value as R)}
    >
      {roles.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  )
}

/** Returns a function that sends a change of a member, says how it ended, and reads the list again. */
export function useMemberChange(listKey: readonly unknown[]) {
  const client = useQueryClient()
  return async (done: string, write: () => Promise<unknown>) => {
    try {
      await write()
      notify(done)
    } catch (error) {
      notifyFault(error)
    }
    await client.invalidateQueries({ queryKey: listKey })
  }
}
