import type { Detector } from '../../contract.ts'
import { budgetExceeded } from './budget-exceeded.ts'
import { duplicateSideEffect } from './duplicate-side-effect.ts'
import { emptyCompletion } from './empty-completion.ts'
import { falseSuccess } from './false-success.ts'
import { finishReason } from './finish-reason.ts'
import { orphan } from './orphan.ts'
import { prematureStop } from './premature-stop.ts'
import { providerError } from './provider-error.ts'
import { refusal } from './refusal.ts'
import { toolArguments } from './tool-arguments.ts'
import { toolFailure } from './tool-failure.ts'
import { toolOutage } from './tool-outage.ts'
import { unknownTool } from './unknown-tool.ts'

/** All failure detectors, in the order in which they run. */
export const failureDetectors: readonly Detector[] = [
  providerError,
  finishReason,
  refusal,
  emptyCompletion,
  unknownTool,
  toolArguments,
  orphan,
  toolOutage,
  toolFailure,
  falseSuccess,
  duplicateSideEffect,
  prematureStop,
  budgetExceeded,
]
