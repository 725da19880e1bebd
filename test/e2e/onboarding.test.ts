import { afterAll, beforeAll, describe } from 'vitest'
import {
  type ClientShape,
  clusterShape,
  singleMachineShape,
} from '../support/clients/client-shape.ts'
import { onboardingSuite } from '../support/onboarding/onboarding-suite.ts'
import { budget } from '../support/suite/budget.ts'

/** One shape is enough to show what a fresh installation says of itself. */
const shapes = [
  ['separate processes with JetStream', clusterShape],
  ['role all', singleMachineShape],
] as const

const shapes_used = budget({ test: 1, soak: 2 })

describe.each(shapes.slice(0, shapes_used))('%s', (_, open) => {
  let shape: ClientShape
  beforeAll(async () => {
    shape = await open()
  })
  afterAll(() => shape?.[Symbol.asyncDispose]())

  onboardingSuite(() => shape)
})
