package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// gate refuses what is made in a namespace that is absent or on its way out, and pods below the
// namespace's level of pod security. Unlike the real one it refuses workloads as well as their pods,
// since nothing here makes pods of them.
type gate struct {
	namespaces *genericregistry.Store
	evaluator  policy.Evaluator
}

func newGate(namespaces *genericregistry.Store) (*gate, error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	return &gate{namespaces, evaluator}, nil
}

func (g *gate) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

func (g *gate) Validate(ctx context.Context, asked admission.Attributes, _ admission.ObjectInterfaces) error {
	if asked.GetNamespace() == "" || asked.GetKind().Kind == "Namespace" || asked.GetSubresource() != "" {
		return nil
	}
	found, err := g.namespaces.Get(request.WithNamespace(ctx, ""), asked.GetNamespace(), &metav1.GetOptions{})
	if err != nil {
		return err
	}
	namespace := found.(*corev1.Namespace)
	if asked.GetOperation() == admission.Create && namespace.DeletionTimestamp != nil {
		return admission.NewForbidden(asked, fmt.Errorf("namespace %s is being terminated", namespace.Name))
	}
	metadata, pod := podOf(asked.GetObject())
	if pod == nil {
		return nil
	}
	levels, problems := podsecurity.PolicyToEvaluate(namespace.Labels, podsecurity.Policy{
		Enforce: podsecurity.LevelVersion{Level: podsecurity.LevelPrivileged, Version: podsecurity.LatestVersion()},
	})
	if len(problems) > 0 {
		return errors.NewBadRequest(problems.ToAggregate().Error())
	}
	result := policy.AggregateCheckResults(g.evaluator.EvaluatePod(levels.Enforce, metadata, pod))
	if !result.Allowed {
		return admission.NewForbidden(asked, fmt.Errorf("violates PodSecurity %q: %s", levels.Enforce.String(), result.ForbiddenDetail()))
	}
	return nil
}

func podOf(object runtime.Object) (*metav1.ObjectMeta, *corev1.PodSpec) {
	switch typed := object.(type) {
	case *corev1.Pod:
		return &typed.ObjectMeta, &typed.Spec
	case *appsv1.Deployment:
		return &typed.Spec.Template.ObjectMeta, &typed.Spec.Template.Spec
	case *appsv1.StatefulSet:
		return &typed.Spec.Template.ObjectMeta, &typed.Spec.Template.Spec
	case *batchv1.Job:
		return &typed.Spec.Template.ObjectMeta, &typed.Spec.Template.Spec
	case *batchv1.CronJob:
		return &typed.Spec.JobTemplate.Spec.Template.ObjectMeta, &typed.Spec.JobTemplate.Spec.Template.Spec
	}
	return nil, nil
}
