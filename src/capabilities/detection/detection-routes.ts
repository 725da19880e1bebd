import type { Route } from '../../platform/http/index.ts'
import type { DetectionDeps } from './detection-deps.ts'
import { getDetectionSettings, putDetectionSettings } from './settings/detection-settings.ts'
import { previewDetectionSettings } from './settings/preview.ts'

/** The routes under `/api/v1/detection`. */
export function detectionRoutes(deps: DetectionDeps): Route[] {
  return [getDetectionSettings(deps), putDetectionSettings(deps), previewDetectionSettings(deps)]
}
