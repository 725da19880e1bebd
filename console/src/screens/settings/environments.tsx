import { useState } from 'react'
import { call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import { Changed } from '../../ui/changed.tsx'
import { AreaField, CheckField, faultAt } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import { type Own, toVersion, useWrite } from './own-project.ts'

/** The environments that keys and data may name. */
export function Environments(own: Own) {
  return <Editor key={own.project.version} {...own} />
}

function Editor({ project, mayChange, reload }: Own) {
  const [isLimited, setLimited] = useState(project.environments !== null)
  const [text, setText] = useState((project.environments ?? ['production']).join('\n'))
  const write = useWrite('The environments are saved.')
  const listed = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        void write.run(() =>
          call.PUT('/api/v2/access/projects/{project_id}/environments', {
            params: toVersion(project),
            body: { environments: isLimited ? listed : null },
          }),
        )
      }}
    >
      <CheckField
        label="Only these environments may be named by keys"
        checked={isLimited}
        disabled={!mayChange}
        onChange={({ target }) => setLimited(target.checked)}
      />
      {isLimited ? (
        <AreaField
          label="Environments"
          value={text}
          disabled={!mayChange}
          onChange={({ target }) => setText(target.value)}
          fault={faultAt(faultsOf(write.error), '/environments')}
          hint="One a line, such as production and staging."
        />
      ) : (
        <p className={ui.soft}>Any name is accepted.</p>
      )}
      {write.error !== undefined && <Changed error={write.error} onReload={reload} />}
      <div>
        <Button type="submit" look="primary" disabled={!mayChange || write.isRunning}>
          {write.isRunning ? 'Saving…' : 'Save the environments'}
        </Button>
      </div>
    </form>
  )
}
