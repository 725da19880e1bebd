/** Environment of the tasks that onboarding makes. Rates of the project leave them out. */
export const onboardingEnvironment = 'looptrace-onboarding'
