import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ApiKey } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useHasRole, useProject, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Button } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Empty } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { KeyForm } from './key-form.tsx'
import { isEnded, KeyTable } from './key-table.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'

const path = '/api/v2/access/projects/{project_id}/api-keys'

/** The keys of the project: create, rotate, revoke. */
export function Keys() {
  const isAdmin = useHasRole('admin')
  return isAdmin ? <KeyList /> : <NeedsRole what="Reading keys" needs="admin in the project" />
}

type Opened = { what: 'create' } | { what: 'rotate' | 'revoke'; key: ApiKey }

function KeyList() {
  const project_id = useProjectId()
  const allowed = useProject()?.key_scopes ?? null
  const client = useQueryClient()
  const [opened, setOpened] = useState<Opened>()
  const [made, setMade] = useState<{ title: string; secret: string }>()
  const keys = usePages(
    ['api-keys', project_id],
    (cursor, signal) =>
      call.GET(path, { params: { path: { project_id }, query: { limit: 50, cursor } }, signal }),
    (each) => each.api_keys,
  )
  const close = () => setOpened(undefined)
  const done = async (title: string, secret?: string | null) => {
    close()
    if (secret) setMade({ title, secret })
    else notify(title)
    await client.invalidateQueries({ queryKey: ['api-keys', project_id] })
  }
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <Button look="primary" onClick={() => setOpened({ what: 'create' })}>
          Create a key
        </Button>
        <span className={ui.soft}>Applications send traces and model calls with a key.</span>
      </div>
      {made !== undefined && <ShownOnce {...made} />}
      <KeyTable
        label="Keys"
        pages={keys}
        actions={(key) =>
          isEnded(key, serverNow()) ? null : (
            <>
              <Button
                small
                aria-label={`Rotate ${key.name}`}
                onClick={() => setOpened({ what: 'rotate', key })}
              >
                Rotate
              </Button>{' '}
              <Button
                small
                look="danger"
                aria-label={`Revoke ${key.name}`}
                onClick={() => setOpened({ what: 'revoke', key })}
              >
                Revoke
              </Button>
            </>
          )
        }
        empty={
          <Empty title="No keys yet">
            <p>Create one, or let the page Connect create one together with the lines to paste.</p>
          </Empty>
        }
      />
      <Dialog title="Create a key" open={opened?.what === 'create'} onClose={close}>
        <KeyForm
          hasOrigins
          allowed={allowed}
          onCreate={async (body) => {
            const { data } = await call.POST(path, { params: { path: { project_id } }, body })
            await done(`The new key ${body.name}`, data?.key)
          }}
        />
      </Dialog>
      {opened?.what === 'rotate' && <RotateKey of={opened.key} onClose={close} onDone={done} />}
      {opened?.what === 'revoke' && <RevokeKey of={opened.key} onClose={close} onDone={done} />}
    </div>
  )
}
