import { useState } from 'react'
import { call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import { AreaField, CheckField, faultAt } from '../../ui/fields.tsx'
import ui from '../../ui/ui.module.css'
import { type Own, toVersion, useWrite } from './own-project.ts'
import { SavedForm } from './saved-form.tsx'

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
    <SavedForm
      what="environments"
      write={write}
      mayChange={mayChange}
      reload={reload}
      save={() =>
        call.PUT('/api/v2/access/projects/{project_id}/environments', {
          params: toVersion(project),
          body: { environments: isLimited ? listed : null },
        })
      }
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
    </SavedForm>
  )
}
