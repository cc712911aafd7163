package answer

import (
	"bytes"
	"encoding/json"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// AggregateDocument is profile_export_aiperf_sweep.json, of this program or of the original.
type AggregateDocument struct {
	RunsDocument
	Metadata SweepMetadata  `json:"metadata"`
	Cells    []CellDocument `json:"per_combination_metrics"`
	// Best is kept in its order.
	Best   artifact.Map[*BestDocument] `json:"best_configurations"`
	Pareto []artifact.Object           `json:"pareto_optimal"`
	// Answers and Accuracy are only in those of this program.
	Answers  []LoadsDocument        `json:"answers,omitempty"`
	Accuracy *SweepAccuracyDocument `json:"accuracy,omitempty"`
}

// FailedRunDocument is a run that failed.
type FailedRunDocument struct {
	Label string `json:"label"`
	Error string `json:"error"`
}

// SweepMetadata says what was swept.
type SweepMetadata struct {
	Parameters   []ParameterDocument  `json:"sweep_parameters"`
	Combinations int                  `json:"num_combinations"`
	Constraint   *ConstraintsDocument `json:"sla_constraints,omitempty"`
	Mode         string               `json:"sweep_mode"`
	Level        *float64             `json:"confidence_level"`
	Trials       *int                 `json:"num_trials_per_value"`
	Axes         *AxesDocument        `json:"pareto_axes,omitempty"`
	Skipped      []any                `json:"skipped_values,omitempty"`
	Type         string               `json:"aggregation_type"`
}

// ParameterDocument is a swept parameter with its different values.
type ParameterDocument struct {
	Name   string `json:"name"`
	Values []any  `json:"values"`
}

// ConstraintsDocument are limits and how many cells meet them.
type ConstraintsDocument struct {
	Filters    []LimitDocument `json:"active_filters"`
	Feasible   int             `json:"feasible_count"`
	Infeasible int             `json:"infeasible_count"`
}

// LimitDocument is a limit of a figure.
type LimitDocument struct {
	Metric    string   `json:"metric_tag"`
	Stat      string   `json:"stat"`
	Op        string   `json:"op"`
	Threshold *float64 `json:"threshold"`
}

// BreachDocument is a limit that was not met. Observed is nil where it is not known.
type BreachDocument struct {
	LimitDocument
	Observed *float64 `json:"observed"`
}

// AxesDocument are the objectives of a Pareto front.
type AxesDocument struct {
	XMetric   string   `json:"x_metric"`
	XStat     string   `json:"x_stat"`
	XMinimize *bool    `json:"x_minimize"`
	YMetric   string   `json:"y_metric"`
	YStat     string   `json:"y_stat"`
	YMaximize *bool    `json:"y_maximize"`
	Series    []string `json:"series_keys"`
}

// CellDocument has the figures of a cell by their flattened keys.
type CellDocument struct {
	Parameters artifact.Object          `json:"parameters"`
	Metrics    map[string]BlockDocument `json:"metrics"`
	// ClientLimited counts the runs in which the client was the bottleneck. It is only in those of this program.
	ClientLimited int `json:"client_limited_runs,omitempty"`
	// Times is where the time of requests went, on average over the runs.
	Times *timesplit.Times `json:"time_split,omitempty"`
}

// BlockDocument is a figure over the trials of a cell; what is not finite is nil. With one trial the original writes a
// whole metric, of which the statistics are members: Stats.
type BlockDocument struct {
	Mean  *float64           `json:"mean"`
	Std   *float64           `json:"std"`
	Min   *float64           `json:"min"`
	Max   *float64           `json:"max"`
	CV    *float64           `json:"cv"`
	Low   *float64           `json:"ci_low"`
	High  *float64           `json:"ci_high"`
	Unit  string             `json:"unit"`
	Stats map[string]float64 `json:"-"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *BlockDocument) UnmarshalJSON(data []byte) error {
	type plain BlockDocument
	if err := json.Unmarshal(data, (*plain)(b)); err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(`"avg"`)) {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	b.Stats = map[string]float64{}
	for name, value := range members {
		if v, ok := value.(float64); ok && (slices.Contains(statistics, name) || isRank(name)) {
			b.Stats[name] = v
		}
	}
	return nil
}

// BestDocument is the best cell for a purpose.
type BestDocument struct {
	Parameters artifact.Object `json:"parameters"`
	Metric     *float64        `json:"metric,omitempty"`
	Unit       string          `json:"unit"`
}

// SweepAccuracyDocument has the accuracies of the cells. First are the parameters of that which the others are compared
// with.
type SweepAccuracyDocument struct {
	Confidence float64                `json:"confidence"`
	First      artifact.Object        `json:"first"`
	Cells      []CellAccuracyDocument `json:"cells"`
}

// CellAccuracyDocument is the accuracy of a cell.
type CellAccuracyDocument struct {
	Parameters artifact.Object     `json:"parameters"`
	Correct    int64               `json:"correct"`
	Total      int64               `json:"total"`
	Unparsed   int64               `json:"unparsed"`
	Problems   int64               `json:"problems"`
	Accuracy   float64             `json:"accuracy"`
	Low        float64             `json:"ci95_low"`
	High       float64             `json:"ci95_high"`
	Against    *summary.Difference `json:"against_first,omitempty"`
}

// RunsDocument says of which runs a document about several runs is.
type RunsDocument struct {
	Type       string              `json:"aggregation_type"`
	Runs       int                 `json:"num_profile_runs"`
	Successful int                 `json:"num_successful_runs"`
	FailedRuns []FailedRunDocument `json:"failed_runs"`
}

// RepeatsDocument is profile_export_aiperf_aggregate.json, of this program or of the original. Metrics has the
// statistics over repeats by their flattened keys; null is what JSON cannot represent.
type RepeatsDocument struct {
	SchemaVersion string          `json:"schema_version"`
	AIPerfVersion string          `json:"aiperf_version"`
	Metadata      RepeatsMetadata `json:"metadata"`
	Metrics       artifact.Object `json:"metrics"`
}

// RepeatsMetadata says what was repeated. Further are members on which no reader depends.
type RepeatsMetadata struct {
	RunsDocument
	Level    float64         `json:"confidence_level"`
	Labels   []string        `json:"run_labels"`
	Cooldown float64         `json:"cooldown_seconds"`
	Further  artifact.Object `json:"-" artifact:"inline"`
}

// HistoryDocument is search_history.json, of this program or of the original.
type HistoryDocument struct {
	Config     HistoryConfig         `json:"config"`
	Iterations []IterationDocument   `json:"iterations"`
	BestTrials *[]BestTrialDocument  `json:"best_trials"` // null where nothing was scored
	Boundary   *BoundaryDocument     `json:"boundary_summary"`
	Tiers      []TierDocument        `json:"tier_results,omitzero"`
	Pairs      *TierMetadataDocument `json:"tier_metadata,omitempty"`
	Recipe     *string               `json:"recipe"`
	Reason     *string               `json:"convergence_reason"`
}

// HistoryConfig is what was searched.
type HistoryConfig struct {
	Planner          string               `json:"planner"`
	Objectives       []ObjectiveDocument  `json:"objectives"`
	Constraints      []ConstraintDocument `json:"outcome_constraints"`
	Most             int                  `json:"max_iterations"`
	InitialPoints    int                  `json:"n_initial_points"`
	Seed             *int64               `json:"random_seed"`
	Patience         int                  `json:"improvement_patience"`
	PlateauWindow    int                  `json:"plateau_window"`
	PlateauThreshold float64              `json:"plateau_threshold"`
	Space            []DimensionDocument  `json:"search_space"`
	Filters          []LimitDocument      `json:"sla_filters"`
	Tiers            []TierLimitsDocument `json:"tiers,omitempty"`
}

// ObjectiveDocument is a figure that is to be as large or as small as possible. Direction is MAXIMIZE or MINIMIZE.
type ObjectiveDocument struct {
	Metric    string   `json:"metric"`
	Stat      string   `json:"stat"`
	Direction string   `json:"direction"`
	Threshold *float64 `json:"threshold"`
}

// ConstraintDocument is a condition on what the model of a planner predicts.
type ConstraintDocument struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"`
	Bound  float64 `json:"bound"`
}

// DimensionDocument is a dimension of the search. Kind is int or real.
type DimensionDocument struct {
	Path string  `json:"path"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
	Kind string  `json:"kind"`
}

// TierLimitsDocument are the limits of a tier.
type TierLimitsDocument struct {
	Label   string          `json:"label"`
	Filters []LimitDocument `json:"filters"`
	Rank    *int64          `json:"ordering_rank,omitempty"`
}

// IterationDocument is a visit to a point. Objectives is null where it could not be scored; an objective that is not
// known is null. NonMonotonic is a text in older files.
type IterationDocument struct {
	Index        int             `json:"iteration_idx"`
	Values       artifact.Object `json:"variation_values"`
	Objectives   *[]*float64     `json:"objective_values"`
	Feasible     *bool           `json:"feasible"`
	NonMonotonic any             `json:"non_monotonic_warning"`
	// The others are of this program only. Extra are those of the judge.
	ClientLimited string          `json:"client_limited,omitempty"`
	Saturated     string          `json:"saturated,omitempty"`
	Refused       string          `json:"refused,omitempty"`
	Extra         artifact.Object `json:"-" artifact:"inline"`
}

// BestTrialDocument is one of the best iterations.
type BestTrialDocument struct {
	Index         int             `json:"iteration_idx"`
	Objectives    *[]*float64     `json:"objective_values"`
	Values        artifact.Object `json:"variation_values"`
	Feasible      bool            `json:"feasible"`
	FeasibleCount int             `json:"feasible_count"`
	ParetoRank    int             `json:"pareto_rank"`
}

// BoundaryDocument says between which values of the only dimension the limit is.
type BoundaryDocument struct {
	Path          string              `json:"swept_dim_path"`
	FeasibleMax   *FeasibleDocument   `json:"feasible_max"`
	InfeasibleMin *InfeasibleDocument `json:"infeasible_min"`
	*BoundaryKindDocument
	*TierVerdictDocument
	*CapacityDocument
	// Extra are members of a search that its judge adds.
	Extra artifact.Object `json:"-" artifact:"inline"`
}

// FeasibleDocument is the largest value that met all conditions.
type FeasibleDocument struct {
	Value     any      `json:"value"`
	Index     int      `json:"iteration_idx"`
	Objective *float64 `json:"objective_value"`
}

// InfeasibleDocument is the smallest value that did not.
type InfeasibleDocument struct {
	Value  any             `json:"value"`
	Index  int             `json:"iteration_idx"`
	Breach *BreachDocument `json:"first_breach"`
}

// BoundaryKindDocument is what a planner knows of the limit.
type BoundaryKindDocument struct {
	Type    string            `json:"boundary_type"`
	Binding *string           `json:"binding_constraint"`
	CI      *IntervalDocument `json:"boundary_ci"`
}

// IntervalDocument is an interval.
type IntervalDocument struct {
	Lo *float64 `json:"lo"`
	Hi *float64 `json:"hi"`
}

// TierVerdictDocument is only that of a search over tiers.
type TierVerdictDocument struct {
	NonMonotonic bool    `json:"non_monotonic_warning"`
	Reason       *string `json:"convergence_reason"`
}

// CapacityDocument is only that of aiperf capacity: its answer.
type CapacityDocument struct {
	Outcome  Outcome                  `json:"outcome,omitempty"`
	Answer   *float64                 `json:"answer"`
	Estimate *float64                 `json:"estimate"`
	Interval LevelledIntervalDocument `json:"interval"`
	// BoundFirst is the limit that is missed first, saturation or context_length.
	BoundFirst      *string `json:"bound_first"`
	Sureness        float64 `json:"sureness"`
	Probes          int     `json:"probes"`
	Limited         int     `json:"client_limited_probes"`
	MeasuredSeconds float64 `json:"measured_seconds"`
	SavedSeconds    float64 `json:"saved_seconds"`
	Command         string  `json:"command"`
	// Binding is the index of the limit that is missed first, BoundBy what else bound the load.
	Binding *int   `json:"binding,omitempty"`
	BoundBy string `json:"bound_by,omitempty"`
	// Why is what made the smallest load beyond the limits slow, as its judgement or the shape of the curves has it.
	Why   *judge.Finding `json:"why,omitempty"`
	Notes []string       `json:"notes,omitempty"`
	Spent *SpentDocument `json:"spent,omitempty"`
}

// SpentDocument is what an answer cost.
type SpentDocument struct {
	Runs     int64   `json:"runs"`
	Requests int64   `json:"requests"`
	Tokens   int64   `json:"tokens"`
	Seconds  float64 `json:"seconds"`
	Saved    float64 `json:"saved_seconds"`
}

// LevelledIntervalDocument is an interval with its confidence.
type LevelledIntervalDocument struct {
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	Level *float64 `json:"level,omitempty"`
}

// TierDocument is what was found of a tier. The loads are whole numbers, in files of the original with a point, or
// null.
type TierDocument struct {
	Label    string          `json:"label"`
	Boundary any             `json:"boundary_concurrency"`
	Status   string          `json:"convergence_status"`
	Reason   *string         `json:"convergence_reason"`
	Binding  *BreachDocument `json:"binding_constraint"`
	Lower    any             `json:"bracket_lower"`
	Upper    any             `json:"bracket_upper"`
	Interval any             `json:"confidence_interval"`
	Probes   int             `json:"probe_count"`
	// Metrics has all figures at the boundary by metric and statistic.
	Metrics *artifact.Object `json:"boundary_metrics"`
	Filters []LimitDocument  `json:"filters"`
}

// TierMetadataDocument counts what a search over tiers cost.
type TierMetadataDocument struct {
	Probes      int                `json:"actual_probe_count"`
	Evaluations int                `json:"tier_evaluation_count"`
	Ordered     bool               `json:"ordering_detected"`
	Pairs       []TierPairDocument `json:"ordering_pairs"`
}

// TierPairDocument are two tiers of which one implies the other.
type TierPairDocument struct {
	Strict  string `json:"strict"`
	Lenient string `json:"lenient"`
}
