import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import type { Route } from '../../../platform/http/index.ts'
import { projectDocumentRoutes } from '../../documents/index.ts'
import type { DetectionPorts } from '../ports.ts'
import {
  completeSettings,
  detectionSettingsSchema,
  settingsTable,
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

/**
 * Routes GET and PUT of /api/v1/detection/settings. A change applies to later analyses; stored
 * findings change when their task is analysed again.
 */
export function detectionSettingsRoutes(deps: Pick<DetectionPorts, 'db' | 'clock'>): Route[] {
  return projectDocumentRoutes(deps, {
    table: settingsTable,
    url: '/api/v1/detection/settings',
    get: {
      id: 'getDetectionSettings',
      summary: 'Thresholds of a project’s detectors',
      auth: 'jwt_or_key',
      scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    },
    put: { id: 'putDetectionSettings', summary: 'Set the thresholds of a project’s detectors' },
    body: settingsBody,
    reply,
    errors: ['store_unavailable'],
    toColumns: ({ detectors }) => ({ detectors: toChoice(detectors) }),
    toReply: ({ detectors, ...row }) => ({ ...row, detectors: completeSettings(detectors) }),
  })
}
