import { afterAll, beforeAll, describe } from 'vitest'
import {
  type ClientShape,
  clusterShape,
  singleMachineShape,
} from '../support/clients/client-shape.ts'
import { onboardingSuite } from '../support/onboarding/onboarding-suite.ts'

describe.each([
  ['role all', singleMachineShape],
  ['separate processes with JetStream', clusterShape],
])('%s', (_, open) => {
  let shape: ClientShape
  beforeAll(async () => {
    shape = await open()
  })
  afterAll(() => shape?.[Symbol.asyncDispose]())

  onboardingSuite(() => shape)
})
