import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { ApiKey } from '../../api/schema.gen.d.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'

/** The result of a change of a key: a title to show, and the new secret if there is one. */
export type OnDone = (title: string, secret?: string | null) => Promise<void>

const overlaps = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
] as const

/** Replaces a key by a new one with the same name and scopes. */
export function RotateKey({
  of: key,
  onClose,
  onDone,
}: {
  of: ApiKey
  onClose: () => void
  onDone: OnDone
}) {
  const [overlap, setOverlap] = useState('3600')
  const rotate = api.useMutation(
    'post',
    '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/rotate',
    { onSuccess: (made) => void onDone(`The new key ${key.name}`, made.key) },
  )
  return (
    <Dialog title="Rotate the key" open onClose={onClose}>
      <p>
        A new key takes the place of <Plain>{key.name}</Plain>, with the same scopes.
      </p>
      <SelectField
        label="The old key ends"
        value={overlap}
        onChange={(event) => setOverlap(event.target.value)}
        options={overlaps}
      />
      {rotate.error !== null && <Fault error={rotate.error} />}
      <Button
        look="primary"
        disabled={rotate.isPending}
        onClick={() =>
          rotate.mutate({
            params: { path: { project_id: key.project_id, api_key_id: key.id } },
            body: { overlap_seconds: Number(overlap) },
          })
        }
      >
        {rotate.isPending ? 'Rotating…' : 'Rotate the key'}
      </Button>
    </Dialog>
  )
}
