package main

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
)

const rbacGroup = "rbac.authorization.k8s.io"

// rbacAuthorizer decides by the stored roles and bindings, read anew for each request.
type rbacAuthorizer struct {
	stores map[string]*genericregistry.Store
}

func (a *rbacAuthorizer) Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	who := asked.GetUser()
	if who == nil {
		return authorizer.DecisionDeny, "nobody is signed in", nil
	}
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) || isOpen(asked) {
		return authorizer.DecisionAllow, "", nil
	}
	rules, err := a.rulesOf(ctx, who, asked.GetNamespace())
	if err != nil {
		return authorizer.DecisionDeny, "", err
	}
	if slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(rule, asked) }) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "no role allows it", nil
}

// RulesFor is what `kubectl auth can-i --list` asks for; nobody does here.
func (a *rbacAuthorizer) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return nil, nil, true, nil
}

// isOpen tells paths that everybody who is signed in may read, as system:discovery has them.
func isOpen(asked authorizer.Attributes) bool {
	if asked.IsResourceRequest() {
		return asked.GetAPIGroup() == "authorization.k8s.io"
	}
	paths := []string{"/api", "/apis", "/openapi", "/version", "/healthz", "/livez", "/readyz"}
	return asked.IsReadOnly() && slices.ContainsFunc(paths, func(path string) bool {
		return asked.GetPath() == path || strings.HasPrefix(asked.GetPath(), path+"/")
	})
}

func (a *rbacAuthorizer) rulesOf(ctx context.Context, who user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	everywhere, err := a.list(ctx, "clusterrolebindings", "")
	if err != nil {
		return nil, err
	}
	for _, binding := range everywhere.(*rbacv1.ClusterRoleBindingList).Items {
		if binds(binding.Subjects, who, "") {
			rules = append(rules, a.rulesOfRole(ctx, binding.RoleRef, "")...)
		}
	}
	if namespace == "" {
		return rules, nil
	}
	here, err := a.list(ctx, "rolebindings", namespace)
	if err != nil {
		return nil, err
	}
	for _, binding := range here.(*rbacv1.RoleBindingList).Items {
		if binds(binding.Subjects, who, namespace) {
			rules = append(rules, a.rulesOfRole(ctx, binding.RoleRef, namespace)...)
		}
	}
	return rules, nil
}

func (a *rbacAuthorizer) list(ctx context.Context, plural, namespace string) (runtime.Object, error) {
	return a.stores[plural+"."+rbacGroup].List(request.WithNamespace(ctx, namespace), nil)
}

// rulesOfRole has no rules for a role that is not there, as a real server has none.
func (a *rbacAuthorizer) rulesOfRole(ctx context.Context, ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	plural := "roles"
	if ref.Kind == "ClusterRole" {
		plural, namespace = "clusterroles", ""
	}
	found, err := a.stores[plural+"."+rbacGroup].Get(request.WithNamespace(ctx, namespace), ref.Name, &metav1.GetOptions{})
	if err != nil {
		return nil
	}
	switch role := found.(type) {
	case *rbacv1.ClusterRole:
		return role.Rules
	case *rbacv1.Role:
		return role.Rules
	}
	return nil
}

func binds(subjects []rbacv1.Subject, who user.Info, namespace string) bool {
	return slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		switch subject.Kind {
		case rbacv1.UserKind:
			return subject.Name == who.GetName()
		case rbacv1.GroupKind:
			return slices.Contains(who.GetGroups(), subject.Name)
		case rbacv1.ServiceAccountKind:
			in := subject.Namespace
			if in == "" {
				in = namespace
			}
			return who.GetName() == "system:serviceaccount:"+in+":"+subject.Name
		}
		return false
	})
}

func allows(rule rbacv1.PolicyRule, asked authorizer.Attributes) bool {
	if !has(rule.Verbs, asked.GetVerb()) {
		return false
	}
	if !asked.IsResourceRequest() {
		return slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool {
			prefix, isPrefix := strings.CutSuffix(url, "*")
			return url == asked.GetPath() || isPrefix && strings.HasPrefix(asked.GetPath(), prefix)
		})
	}
	resource := asked.GetResource()
	if asked.GetSubresource() != "" {
		resource += "/" + asked.GetSubresource()
	}
	isNamed := len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, asked.GetName())
	return isNamed && has(rule.APIGroups, asked.GetAPIGroup()) && has(rule.Resources, resource)
}

func has(list []string, item string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, item)
}
