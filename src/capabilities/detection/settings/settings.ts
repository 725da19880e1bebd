import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import {
  Answer,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  writeIfMatch,
} from '../../../platform/http/index.ts'
import type { DetectionPorts } from '../ports.ts'
import {
  completeSettings,
  type DetectionSettings,
  detectionSettingsSchema,
  findSettings,
  putSettings,
  replaceSettings,
  type StoredSettings,
  toChoice,
} from './detector-settings.ts'

/** Request of PUT and of the preview: all detectors, with defaults for omitted settings. */
export const settingsBody = record('DetectionSettingsRequest', {
  detectors: detectionSettingsSchema.describe(
    'Settings by detector: `enabled` and its thresholds. Omitted settings have their defaults.',
  ),
})

const reply = record('ProjectDetectionSettings', {
  project_id: z.uuid(),
  detectors: detectionSettingsSchema,
  version: z.int().describe('0 for the defaults; incremented with each change.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
})

/** GET /api/v1/detection/settings; a change names its ETag in If-Match. */
export function getDetectionSettings({ db }: Pick<DetectionPorts, 'db'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/detection/settings',
    id: 'getDetectionSettings',
    summary: 'Thresholds of a project’s detectors',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    reply,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) => {
      const stored = await findSettings(db, project_id)
      return toAnswer(stored ?? { ...nothingSet, project_id })
    },
  })
}

/**
 * PUT /api/v1/detection/settings: replaces all thresholds. With If-Match it fails with 412 if they
 * have changed since they were read. They apply to later analyses; stored findings change when
 * their task is analysed again.
 */
export function putDetectionSettings({ db, clock }: Pick<DetectionPorts, 'db' | 'clock'>): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/detection/settings',
    id: 'putDetectionSettings',
    summary: 'Set the thresholds of a project’s detectors',
    etag: true,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    headers: [ifMatchHeader],
    body: settingsBody,
    reply,
    errors: ['precondition_failed', 'store_unavailable'],
    handle: async ({ body, caller, headers }) => {
      const { project_id, id: updated_by } = caller
      const updated_at = new Date(clock.now_ms())
      const detectors = toChoice(body.detectors)
      const change = { project_id, detectors, updated_at, updated_by }
      const stored = await writeIfMatch(headers, {
        put: () => putSettings(db, change),
        replace: (version) => replaceSettings(db, change, version),
        find: () => findSettings(db, project_id),
      })
      return toAnswer(stored)
    },
  })
}

const nothingSet = { detectors: {}, version: 0, updated_at: null, updated_by: null }

type SettingsToShow = Pick<StoredSettings, 'project_id' | 'version' | 'detectors'> & {
  updated_at: string | null
  updated_by: string | null
}

function toAnswer({ detectors, ...rest }: SettingsToShow) {
  const all: DetectionSettings = completeSettings(detectors)
  return new Answer({ ...rest, detectors: all }, { headers: { etag: etagOf(rest.version) } })
}
